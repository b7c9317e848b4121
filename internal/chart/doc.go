// Package chart draws all figures of the repository as SVG: panels of curves between two axes,
// stacked bars, bars of ratios, and diagrams of boxes and arrows. It writes the files itself and
// needs no library.
//
// It knows nothing of what it draws. Programs that measure fill a Chart, Bars or Ratios and call
// WriteSVG; for a page of HTML, WriteHTML, with Style and Script once in the page.
package chart
