// The button that copies how to reproduce a system. Without a script there is none, and the command can be selected.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const part = document.getElementById("copying");
  if (!part) return; // another page
  const command = document.getElementById("command");
  const said = part.querySelector("[role=status]");
  part.querySelector("button").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      said.textContent = "The command was copied.";
    } catch {
      getSelection().selectAllChildren(command);
      said.textContent = "This browser does not let pages copy: the command is selected.";
    }
  });
  part.hidden = false;
});
