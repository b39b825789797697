package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/services"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// rewriteResponse makes whatever an answer leads to lead through the proxy.
func (c *call) rewriteResponse(response *wire.Response, requested *url.URL) {
	response.Body = c.rewriteBody(response.Header, response.Body)
	for _, name := range []string{"Location", "Content-Location"} {
		to, err := requested.Parse(response.Header.Get(name))
		if err != nil || response.Header.Get(name) == "" {
			continue
		}
		if path, found := c.proxy.routes.toProxyPath(to.String()); found {
			response.Header.Set(name, c.base()+path)
		}
	}
	address := regexp.MustCompile(`https?://[^"'\s,]+`)
	challenges := response.Header.Values("WWW-Authenticate")
	for i, challenge := range challenges {
		challenges[i] = address.ReplaceAllStringFunc(challenge, c.proxyURL)
	}
}

// proxyURL is the URL by which the proxy leads to what is at the given one, or the same if it doesn't.
func (c *call) proxyURL(target string) string {
	if path, found := c.proxy.routes.toProxyPath(target); found {
		return c.base() + path
	}
	return target
}

// rewriteBody leaves a body alone, to the byte, in which nothing is to be changed.
func (c *call) rewriteBody(header http.Header, body []byte) []byte {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return body
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return body
	}
	if _, err := decoder.Token(); err != io.EOF {
		return body
	}
	changed := c.route.service == services.Keystone && c.rewriteCatalog(document)
	changed = c.rewriteLinks(document) || changed
	if !changed {
		return body
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return body
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// rewriteCatalog learns from a catalog where the services are, and names the proxy in it instead. A catalog is in a
// token, or comes alone. It reports whether there was anything to change.
func (c *call) rewriteCatalog(document any) bool {
	top, _ := document.(map[string]any)
	if token, isToken := top["token"].(map[string]any); isToken {
		top = token
	}
	changed := false
	for service, endpoint := range endpoints(top["catalog"]) {
		target, _ := endpoint["url"].(string)
		route, rest, err := c.proxy.routes.add(service, target)
		if err != nil {
			continue // an endpoint that is no address leads nowhere
		}
		endpoint["url"] = c.base() + route.prefix + rest
		changed = true
	}
	return changed
}

// endpoints walks over the endpoints of the services that are known.
func endpoints(catalog any) func(yield func(wire.Service, map[string]any) bool) {
	return func(yield func(wire.Service, map[string]any) bool) {
		entries, _ := catalog.([]any)
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			kind, _ := entry["type"].(string)
			service, known := serviceOf(kind)
			if !known {
				continue
			}
			all, _ := entry["endpoints"].([]any)
			for _, e := range all {
				if endpoint, isEndpoint := e.(map[string]any); isEndpoint && !yield(service, endpoint) {
					return
				}
			}
		}
	}
}

// rewriteLinks changes the links in a document. Relative ones, such as Glance's to the next page, are for the client to
// put behind the address it asked. It reports whether there were any.
func (c *call) rewriteLinks(document any) bool {
	changed := false
	switch node := document.(type) {
	case []any:
		for _, child := range node {
			changed = c.rewriteLinks(child) || changed
		}
	case map[string]any:
		for key, child := range node {
			target, isString := child.(string)
			if !isString {
				changed = c.rewriteLinks(child) || changed
				continue
			}
			if rewritten := c.proxyURL(target); isLink(key) && rewritten != target {
				node[key] = rewritten
				changed = true
			}
		}
	}
	return changed
}

func isLink(key string) bool {
	switch key {
	case "href", "self", "next", "previous":
		return true
	default:
		return false
	}
}
