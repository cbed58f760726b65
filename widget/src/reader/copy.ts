// A button on each block of code that copies it; without scripts there is none.

const COPIED_MS = 1500;

/** Put a copy button on the code of the page that has none yet. */
export function offerCopy(): void {
  for (const block of document.querySelectorAll<HTMLElement>("article .code")) {
    if (block.querySelector(".copy")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => void copy(block, button));
    block.append(button);
  }
}

async function copy(block: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
}
