// The sample book's own pages, sidebar and figures, with the theme but without its search and blog.
import rehypeKatex from 'rehype-katex';
import remarkMath from 'remark-math';

export default {
  title: 'Physical AI and Humanoid Robotics: a short course',
  url: process.env.SITE_URL,
  baseUrl: '/',
  onBrokenLinks: 'throw',
  themes: ['@docusaurus/theme-classic'],
  plugins: [
    ['@docusaurus/plugin-content-docs', {sidebarPath: './sidebars.js', remarkPlugins: [remarkMath], rehypePlugins: [rehypeKatex]}],
    ['bythebook-docusaurus', {service: process.env.SERVICE_URL, book: 'physical-ai', key: process.env.ASK_KEY}],
  ],
  themeConfig: {
    navbar: {
      title: 'Physical AI',
      logo: {alt: 'Book home', src: 'img/logo.svg', href: '/docs/'},
      items: [{type: 'docSidebar', sidebarId: 'book', label: 'Book'}],
    },
  },
};
