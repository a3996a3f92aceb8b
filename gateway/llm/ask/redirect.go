package ask

import "net/http"

// maxRedirects is how often a server may send a request on.
const maxRedirects = 5

// SameServer is the CheckRedirect of a client for model servers: a request goes on within the server that the person named, and only as it is. Elsewhere
// the chat would go along, and so would the key, but for the one header that net/http takes out.
func SameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) <= maxRedirects && req.Method == first.Method && req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host {
		return nil
	}
	return http.ErrUseLastResponse
}

// sentOn is the failure of an answer that sends the request elsewhere; nil for any other answer.
func sentOn(resp *http.Response) *Failure {
	if resp.StatusCode < 300 || resp.StatusCode > 399 {
		return nil
	}
	to, err := resp.Location()
	if err != nil {
		return nil
	}
	f := Final("the server sends requests on to " + to.Scheme + "://" + to.Host + to.Path + "; if that is the right server, give its address in Settings")
	f.Status = resp.StatusCode
	return f
}
