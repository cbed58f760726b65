declare namespace bythebook {
  interface Options {
    /** Address of your ByTheBook service, as in `https://ask.example.org`. */
    service: string;
    /** Id of the book, as given to `bythebook ingest --book`. */
    book: string;
    /** A key of scope `ask`, bound to your site's origin. Everybody can read it in the page. */
    key?: string;
    /** A button in the corner that opens a panel, or the panel itself at the end of the page. */
    mode?: 'floating' | 'inline';
    /** Which corner, in the direction of reading. */
    corner?: 'start' | 'end';
    /** Whether "Ask about this" appears next to selected text. */
    selection?: 'on' | 'off';
    /** Whether `/` and Ctrl-K open it. */
    shortcut?: 'on' | 'off';
    /** The button's words. */
    label?: string;
    /** Other words for what the widget says, by name. */
    strings?: Readonly<Record<string, string>>;
    /** Docusaurus's own: tells several of one plugin apart. */
    id?: string;
  }

  interface HtmlTag {
    tagName: string;
    attributes: Record<string, string | boolean>;
  }

  interface Plugin {
    name: string;
    injectHtmlTags(): { headTags: HtmlTag[] };
  }

  function validateOptions(given: { options: unknown }): Options;
}

declare function bythebook(context: unknown, options: bythebook.Options): bythebook.Plugin;

export = bythebook;
