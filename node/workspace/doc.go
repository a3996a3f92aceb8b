// Package workspace is the one door between a node's file tools and the disk.
//
// A [Root] is opened once on the node's working folder, with the folders that the person granted beside it ([Config]). Relative paths lie in the
// working folder; absolute paths that name something in it or in a granted folder are used; what lies outside is refused, or with [WholeDisk] used
// as it is (seed 000, Path Resolution, as a mode of the node). Every access goes through the [os.Root] of its folder, relative to a directory
// handle, so a symbolic link that leads out is refused even when it is put there between check and use. Links from one folder into another work. A
// folder that was moved or replaced after the start is noticed: a [SwappedError].
//
// Names that a system takes for something else (devices, streams, another spelling of a file that exists) are refused on that system.
//
// A [Watcher] tells of changes in a folder and, where wanted, below it: by inotify on Linux, by one handle on Windows; elsewhere what is below is looked
// through in rounds, which comes later and costs a little all the time.
//
// Only regular files are opened. Writes are atomic: a new file beside the old one, synced, then renamed over it. Mode, owner, access lists and
// extended attributes are kept where the system lets us. Further hard links keep the old content. What a crash left behind is removed by the
// next write in the same folder.
package workspace
