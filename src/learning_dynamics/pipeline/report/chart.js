// every chart is drawn below its words; without scripts, and on paper, the figure above it stands alone
for (const block of document.querySelectorAll(".interactive")) {
  block.hidden = false;
  const chart = JSON.parse(block.querySelector("script").textContent);
  const drawn = await vegaEmbed(block.querySelector(".chart"), chart,
    { actions: false, defaultStyle: false, renderer: "svg" });
  // a slider's value is said as the chart's title says it, not as a place in a list
  for (const slider of block.querySelectorAll("input[type=range]")) {
    const say = async () => {
      await drawn.view.runAsync();
      slider.ariaValueText = block.querySelector(".role-title-text text").textContent;
    };
    slider.addEventListener("input", say);
    await say();
  }
}
