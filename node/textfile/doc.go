// Package textfile reads text files of unknown encoding: UTF-8 that arrives in pieces, and UTF-16.
package textfile
