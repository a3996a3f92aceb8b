package stream

// seekData is SEEK_DATA.
const seekData = 4
