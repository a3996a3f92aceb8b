package sandbox

func handleIgnoredSignals() {}
