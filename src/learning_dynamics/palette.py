"""The colours of figures and pages."""

# Okabe and Ito's colours, told apart with any colour vision
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "black": "#222222",
    "grey": "#8C8C8C",
}
