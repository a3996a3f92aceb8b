// Package workspace is the one door between a node's file tools and the disk.
//
// A [Root] is opened once on the node's working folder. Relative paths lie in that folder; absolute paths that name something in it are
// mapped in; what lies outside is refused, or with [OpenDisk] used as it is (seed 000, Path Resolution, as a mode of the node). Inside
// the folder every access goes through an [os.Root], relative to a directory handle, so a symbolic link that leads out is refused even
// when it is put there between check and use.
//
// Only regular files are opened. Writes are atomic: a new file beside the old one, synced, then renamed over it. Mode and, where the
// system lets us, owner are kept; extended attributes and further hard links are not.
package workspace
