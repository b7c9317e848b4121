// Package chart draws figures as SVG: panels of curves between two axes, and
// stacked bars. It writes the file itself and needs no library.
//
// It knows nothing of what it draws. Programs that measure fill a Chart or Bars
// and call WriteSVG.
package chart
