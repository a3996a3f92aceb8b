//go:build !accessibility || (!darwin && !windows)

package widgets

// hasReadingAids is whether Fyne tells reading aids about the windows.
const hasReadingAids = false
