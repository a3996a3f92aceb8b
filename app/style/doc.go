// Package style defines Fairlead's appearance: the theme with light and dark colours, text sizes,
// spacing, icons, and the machines' colours. All colours and sizes on the screen are referred to by
// names defined here, so that a change of theme or text size affects everything.
//
// Without a [Theme], in tests of single widgets, the names resolve to the same colours by the
// variant of the running theme.
package style
