// The sample book's own pages and figures, with the theme but without its search and blog: all of them with its
// sidebar, or a few, whose links to the others lead nowhere.
import rehypeKatex from 'rehype-katex';
import remarkMath from 'remark-math';

const whole = Boolean(process.env.WHOLE_BOOK);

export default {
  title: 'Physical AI and Humanoid Robotics: a short course',
  url: process.env.SITE_URL,
  baseUrl: '/',
  onBrokenLinks: whole ? 'throw' : 'ignore',
  markdown: {hooks: {onBrokenMarkdownLinks: whole ? 'throw' : 'ignore'}},
  themes: ['@docusaurus/theme-classic'],
  plugins: [
    ['@docusaurus/plugin-content-docs', {...(whole && {sidebarPath: './sidebars.js'}), remarkPlugins: [remarkMath], rehypePlugins: [rehypeKatex]}],
    ['bythebook-docusaurus', {service: process.env.SERVICE_URL, book: 'physical-ai', key: process.env.ASK_KEY}],
  ],
  themeConfig: {
    navbar: {
      title: 'Physical AI',
      logo: {alt: 'Book home', src: 'img/logo.svg', href: '/docs/'},
      items: [{to: '/docs/', label: 'Book'}],
    },
  },
};
