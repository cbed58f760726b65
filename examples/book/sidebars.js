// @ts-check
// Docusaurus removes the NN- number prefixes of files and folders from doc ids.

/** @type {import('@docusaurus/plugin-content-docs').SidebarsConfig} */
const sidebars = {
  book: [
    'intro',
    {
      type: 'category',
      label: 'Chapter 1: Foundations of Physical AI',
      items: [
        'foundations/index',
        'foundations/embodiment',
        'foundations/perception-action-loop',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 2: ROS 2 Fundamentals',
      items: [
        'ros2-fundamentals/index',
        'ros2-fundamentals/nodes-and-topics',
        'ros2-fundamentals/services-and-actions',
        'ros2-fundamentals/writing-nodes',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 3: Describing Robots with URDF',
      items: [
        'robot-description/index',
        'robot-description/links-and-joints',
        'robot-description/xacro-and-tools',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 4: Simulation and Digital Twins',
      items: [
        'simulation/index',
        'simulation/physics-engines',
        'simulation/sim-to-real',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 5: Kinematics and Dynamics',
      items: [
        'kinematics-and-dynamics/index',
        'kinematics-and-dynamics/forward-and-inverse',
        'kinematics-and-dynamics/dynamics',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 6: Sensors and Perception',
      items: [
        'perception/index',
        'perception/cameras-and-depth',
        'perception/state-estimation',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 7: Balance and Walking',
      items: [
        'balance-and-walking/index',
        'balance-and-walking/balance',
        'balance-and-walking/gaits',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 8: Navigation and Manipulation',
      items: [
        'navigation-and-manipulation/index',
        'navigation-and-manipulation/navigation',
        'navigation-and-manipulation/manipulation',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 9: Robot Learning',
      items: [
        'robot-learning/index',
        'robot-learning/reinforcement-learning',
        'robot-learning/imitation-and-foundation-models',
      ],
    },
    {
      type: 'category',
      label: 'Chapter 10: Hardware, Power and Safety',
      items: [
        'hardware-and-safety/index',
        'hardware-and-safety/actuators-and-power',
        'hardware-and-safety/safety',
      ],
    },
    'glossary',
  ],
};

export default sidebars;
