package identity

import (
	_ "embed"
	"slices"
	"strings"
)

// wordText has 256 words, sorted, one for each byte value. They are short, common, and hard to
// confuse when spoken.
//
//go:embed words.txt
var wordText string

var wordList = strings.Fields(wordText)

// Words returns the words for the first n bytes of a hash, so that people can compare them.
func Words(hash []byte, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = wordList[hash[i]]
	}
	return words
}

func IsWord(word string) bool {
	_, ok := slices.BinarySearch(wordList, word)
	return ok
}
