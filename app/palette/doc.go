// Package palette finds what the program has by a few letters: actions, pages, chats, machines,
// settings and files.
package palette
