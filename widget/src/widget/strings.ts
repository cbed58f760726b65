// Every word that the widget says of its own. Another language is another table, or `strings` on the element.

const ENGLISH = {
  title: "Ask the book",
  open: "Ask the book",
  close: "Close",
  fresh: "New conversation",
  wider: "Wider",
  narrower: "Narrower",
  question: "Your question",
  placeholder: "Ask a question",
  placeholderNext: "Ask on",
  send: "Ask",
  stop: "Stop",
  hint: "Answers are passages of the book, with the sentences that answer marked. What the book does not say, it does not answer.",
  looking: "Looking in the book …",
  reading: "Reading the nearest passages …",
  answer: "Answer",
  caution: "Answer, with caution",
  partial: "Answer, in part",
  refused: "The book does not answer this",
  refusedSelection: "The selected passage does not answer this",
  refusedSection: "The section of your selection does not answer this",
  failed: "Could not look it up",
  reason: "Nothing that was found near your question answers it. Other words may help, or one thing at a time.",
  reasonEmpty: "Nothing was found to read. Other words may help.",
  reasonFar: "No passage comes near your question: this seems to lie outside the book. If the book should cover it, try the words that the book uses.",
  reasonRead: "The nearest passages were read, and none of them answers. Other words may help, or one thing at a time.",
  reasonSelection: "Only the selected passage was read. Its section or the whole book may say more.",
  reasonSection: "Only the section of your selection was read. The whole book may say more.",
  nearest: "Nearest sections",
  readOn: "Read on in the nearest sections",
  read: "Read it in the book",
  readQuote: "Read it in the book, quote {n}",
  yourSelection: "Your selection",
  more: "Show more of this section",
  less: "Show less",
  notLoaded: "The section could not be loaded. Please try again.",
  high: "Clear match",
  medium: "Good match",
  low: "Weak match",
  passages_one: "{n} passage",
  passages_other: "{n} passages",
  nearestTo: "Nearest sections for “{part}”",
  copy: "Copy with citations",
  copyAs: "Copy as",
  markdown: "Markdown",
  apa: "APA",
  bibtex: "BibTeX",
  copyCode: "Copy code",
  copied: "Copied",
  notCopied: "Your browser did not allow copying.",
  good: "Helpful",
  bad: "Not helpful",
  thanks: "Thank you. The author can see this.",
  notTaken: "Your word could not be kept. Please try again.",
  stopped: "Stopped.",
  stoppedPart: "Stopped. What stands here is verified; the rest was not read.",
  again: "Ask again",
  retry: "Try again",
  history: "Earlier conversation",
  deleted: "The conversation is deleted.",
  notDeleted: "The conversation could not be deleted on the service. Please try again.",
  askAbout: "Ask about this",
  tooLong: "To ask about a passage, select up to {most} characters. These are {n}.",
  scope: "Answer from",
  selection: "This passage",
  section: "This section",
  book: "Whole book",
  fromSelection: "From this passage: {words}",
  fromSection: "From the section of: {words}",
  fromBook: "From the whole book, with: {words}",
  clear: "Let go of the selection",
  offline: "You are offline. Connect to the internet, then try again. Your question is kept.",
  unreachable: "The service that reads the book cannot be reached. Check your connection, then try again.",
  cut: "The connection was cut before the answer was whole. Please try again.",
  unauthorized: "The service does not accept this page's key. Please tell whoever runs this site.",
  forbidden: "This page's key may not be used on this site. Please tell whoever runs it.",
  limited: "Too many questions just now. Try again in {n} s.",
  unavailable: "The book cannot be searched at the moment. Try again in {n} s.",
  lasting: "The book cannot be searched until it is repaired. Please tell whoever runs this site.",
  broken: "Something went wrong at the service. Please try again.",
  notFound: "There is no service at this page's address for it. Please tell whoever runs this site.",
  invalid: "The question was not taken: {message}",
  noSection: "The selected text was not found in the book as it stands, so its section is not known. Ask of the passage itself, or of the whole book.",
};

export type Strings = typeof ENGLISH;

const GERMAN: Strings = {
  title: "Das Buch fragen",
  open: "Das Buch fragen",
  close: "Schließen",
  fresh: "Neues Gespräch",
  wider: "Breiter",
  narrower: "Schmaler",
  question: "Ihre Frage",
  placeholder: "Stellen Sie eine Frage",
  placeholderNext: "Fragen Sie weiter",
  send: "Fragen",
  stop: "Anhalten",
  hint: "Antworten sind Stellen aus dem Buch; die Sätze, die antworten, sind hervorgehoben. Was das Buch nicht sagt, wird nicht beantwortet.",
  looking: "Im Buch wird nachgesehen …",
  reading: "Die nächsten Stellen werden gelesen …",
  answer: "Antwort",
  caution: "Antwort, mit Vorsicht",
  partial: "Antwort, zum Teil",
  refused: "Das Buch beantwortet das nicht",
  refusedSelection: "Die ausgewählte Stelle beantwortet das nicht",
  refusedSection: "Der Abschnitt Ihrer Auswahl beantwortet das nicht",
  failed: "Nachsehen war nicht möglich",
  reason: "Nichts, was Ihrer Frage nahekommt, beantwortet sie. Vielleicht helfen andere Worte oder eine Frage nach der anderen.",
  reasonEmpty: "Es wurde nichts gefunden, was zu lesen wäre. Vielleicht helfen andere Worte.",
  reasonFar: "Keine Stelle kommt Ihrer Frage nahe: Sie scheint außerhalb dieses Buches zu liegen. Wenn das Buch davon handeln sollte, versuchen Sie es mit seinen Worten.",
  reasonRead: "Die nächsten Stellen wurden gelesen, und keine beantwortet die Frage. Vielleicht helfen andere Worte oder eine Frage nach der anderen.",
  reasonSelection: "Nur die ausgewählte Stelle wurde gelesen. Ihr Abschnitt oder das ganze Buch sagt vielleicht mehr.",
  reasonSection: "Nur der Abschnitt Ihrer Auswahl wurde gelesen. Das ganze Buch sagt vielleicht mehr.",
  nearest: "Nächstgelegene Abschnitte",
  readOn: "Weiterlesen in den nächstgelegenen Abschnitten",
  read: "Im Buch lesen",
  readQuote: "Im Buch lesen, Zitat {n}",
  yourSelection: "Ihre Auswahl",
  more: "Mehr aus diesem Abschnitt",
  less: "Weniger",
  notLoaded: "Der Abschnitt konnte nicht geladen werden. Bitte versuchen Sie es noch einmal.",
  high: "Klarer Treffer",
  medium: "Guter Treffer",
  low: "Schwacher Treffer",
  passages_one: "{n} Stelle",
  passages_other: "{n} Stellen",
  nearestTo: "Nächstgelegene Abschnitte zu „{part}“",
  copy: "Mit Zitaten kopieren",
  copyAs: "Kopieren als",
  markdown: "Markdown",
  apa: "APA",
  bibtex: "BibTeX",
  copyCode: "Code kopieren",
  copied: "Kopiert",
  notCopied: "Ihr Browser hat das Kopieren nicht erlaubt.",
  good: "Hilfreich",
  bad: "Nicht hilfreich",
  thanks: "Danke. Der Autor kann das sehen.",
  notTaken: "Ihre Meinung konnte nicht gespeichert werden. Bitte versuchen Sie es noch einmal.",
  stopped: "Angehalten.",
  stoppedPart: "Angehalten. Was hier steht, ist geprüft; der Rest wurde nicht gelesen.",
  again: "Noch einmal fragen",
  retry: "Noch einmal versuchen",
  history: "Früheres Gespräch",
  deleted: "Das Gespräch ist gelöscht.",
  notDeleted: "Das Gespräch konnte beim Dienst nicht gelöscht werden. Bitte versuchen Sie es noch einmal.",
  askAbout: "Dazu fragen",
  tooLong: "Um zu einer Stelle zu fragen, wählen Sie bis zu {most} Zeichen aus. Das hier sind {n}.",
  scope: "Antwort aus",
  selection: "Dieser Stelle",
  section: "Diesem Abschnitt",
  book: "Dem ganzen Buch",
  fromSelection: "Aus dieser Stelle: {words}",
  fromSection: "Aus dem Abschnitt von: {words}",
  fromBook: "Aus dem ganzen Buch, zu: {words}",
  clear: "Auswahl aufheben",
  offline: "Sie sind offline. Stellen Sie eine Verbindung her und versuchen Sie es noch einmal. Ihre Frage bleibt erhalten.",
  unreachable: "Der Dienst, der das Buch liest, ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
  cut: "Die Verbindung brach ab, bevor die Antwort vollständig war. Bitte versuchen Sie es noch einmal.",
  unauthorized: "Der Dienst nimmt den Schlüssel dieser Seite nicht an. Bitte sagen Sie es dem Betreiber der Seite.",
  forbidden: "Der Schlüssel dieser Seite gilt hier nicht. Bitte sagen Sie es dem Betreiber der Seite.",
  limited: "Im Moment zu viele Fragen. Versuchen Sie es in {n} s noch einmal.",
  unavailable: "Das Buch kann gerade nicht durchsucht werden. Versuchen Sie es in {n} s noch einmal.",
  lasting: "Das Buch kann nicht durchsucht werden, bis es instand gesetzt ist. Bitte sagen Sie es dem Betreiber der Seite.",
  broken: "Beim Dienst ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.",
  notFound: "Unter der Adresse dieser Seite gibt es keinen Dienst dafür. Bitte sagen Sie es dem Betreiber der Seite.",
  invalid: "Die Frage wurde nicht angenommen: {message}",
  noSection: "Der ausgewählte Text wurde im Buch so nicht gefunden, sein Abschnitt ist also nicht bekannt. Fragen Sie die Stelle selbst oder das ganze Buch.",
};

const TABLES: Readonly<Record<string, Strings>> = { en: ENGLISH, de: GERMAN };

/** The words of one language. */
export class Words {
  readonly lang: string;
  readonly #table: Strings;

  constructor(lang: string, changes: Partial<Strings> = {}) {
    const known = lang.toLowerCase().split("-")[0] ?? "";
    const changed = Object.entries(changes).filter(([, value]) => typeof value === "string");
    this.lang = known in TABLES || changed.length ? lang || "en" : "en";
    this.#table = { ...(TABLES[known] ?? ENGLISH), ...Object.fromEntries(changed) };
  }

  /** Give a sentence, with what stands in braces filled in. */
  say(name: keyof Strings, fill: Record<string, string | number> = {}): string {
    return this.#table[name].replace(/\{(\w+)\}/g, (whole, key: string) => String(fill[key] ?? whole));
  }

  /** Write a large number as the language does. */
  count(n: number): string {
    return new Intl.NumberFormat(this.lang).format(n);
  }

  /** Count passages. */
  passages(n: number): string {
    const one = new Intl.PluralRules(this.lang).select(n) === "one";
    return this.say(one ? "passages_one" : "passages_other", { n });
  }
}
