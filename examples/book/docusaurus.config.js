// @ts-check
import remarkMath from 'remark-math';
import rehypeKatex from 'rehype-katex';

/** @type {import('@docusaurus/types').Config} */
const config = {
  title: 'Physical AI and Humanoid Robotics: a short course',
  tagline: 'A sample textbook for second-year engineering students',
  url: process.env.SITE_URL || 'http://localhost:3000',
  baseUrl: '/',
  onBrokenLinks: 'throw',
  i18n: {defaultLocale: 'en', locales: ['en']},

  presets: [
    [
      'classic',
      /** @type {import('@docusaurus/preset-classic').Options} */
      ({
        docs: {
          sidebarPath: './sidebars.js',
          remarkPlugins: [remarkMath],
          rehypePlugins: [rehypeKatex],
        },
        blog: false,
      }),
    ],
  ],

  stylesheets: [
    {
      href: 'https://cdn.jsdelivr.net/npm/katex@0.16.11/dist/katex.min.css',
      type: 'text/css',
      crossorigin: 'anonymous',
    },
  ],

  themeConfig: {
    navbar: {
      title: 'Physical AI and Humanoid Robotics',
      logo: {alt: 'Book home', src: 'img/logo.svg', href: '/docs/'},
      items: [
        {type: 'docSidebar', sidebarId: 'book', position: 'left', label: 'Book'},
        {type: 'doc', docId: 'glossary', position: 'left', label: 'Glossary'},
      ],
    },
  },
};

export default config;
