package catalog

import "fmt"

// summary returns one line for people about the result of a machine's tool.
func summary(tool string, result any) string {
	switch r := result.(type) {
	case listOut:
		return fmt.Sprintf("%d entries", r.Count)
	case statOut:
		if r.Entry.IsDir {
			return r.Path + " is a folder"
		}
		return fmt.Sprintf("%s has %d bytes", r.Path, r.Entry.Size)
	case pathOut:
		if tool == fsDelete {
			return "Deleted " + r.Path
		}
		return "Created " + r.Path
	case globOut:
		return fmt.Sprintf("%d matches", r.Count)
	case grepOut:
		return fmt.Sprintf("%d matches in %d files", r.Count, r.Files)
	case interfacesOut:
		return fmt.Sprintf("%d network interfaces", r.Count)
	case metricsOut:
		return fmt.Sprintf("Fairlead has been running for %d seconds", r.UptimeSecs)
	case routesOut:
		return fmt.Sprintf("%d routes", r.Count)
	case dnsOut:
		return fmt.Sprintf("%d name servers", len(r.Nameservers))
	}
	return ""
}
