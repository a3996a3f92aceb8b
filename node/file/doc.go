// Package file implements Read, Write and Edit. They access the disk through a [workspace.Root].
// Previews name the location of keys and tokens that a path is in, even within the workspace.
//
// As in GSV, Edit replaces text and does not apply patches. Unlike there, files may be larger than
// 200 KB.
package file
