// a browser has the means to unpack what a server would have packed; a file has no server
const packed = await fetch("{{ library }}");
const script = document.createElement("script");
script.type = "module";
script.textContent = await new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).text();
document.head.append(script);
