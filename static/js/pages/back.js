// Go back to a refused form as the browser does, so that it restores what was typed.
document.getElementById("back").addEventListener("click", (event) => {
  event.preventDefault();
  history.back();
});
