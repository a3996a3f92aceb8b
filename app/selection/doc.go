// Package selection lets a reader select and search text that spans several widgets, which Fyne
// cannot: its own selectable texts each have a selection of their own. A widget with text is a
// [Passage]; package transcript selects and searches across the passages of a chat.
package selection
