// Package style is how Fairlead looks: the theme with its colours for light and dark, sizes, measures, icons and the colours
// of machines. Every colour and size on the screen comes from here, by name, so that a change of theme or text size reaches
// everything.
//
// Outside a [Theme], in tests of single widgets, the names resolve to the same colours by the variant of the running theme.
package style
