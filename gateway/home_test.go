package gateway_test

import "os"

// personHome is where the person's tools keep what they have, which the tests' own home has not.
var personHome = os.Getenv("HOME")
