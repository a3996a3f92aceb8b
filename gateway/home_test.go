package gateway_test

import "os"

// personHome is the person's real home folder, which the tests' own home replaces.
var personHome = os.Getenv("HOME")
