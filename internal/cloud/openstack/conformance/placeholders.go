package conformance

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// placeholders replaces what differs from run to run and from cloud to cloud. What the case has sent itself always stays.
type placeholders struct {
	names map[string]string // by ID
	count map[string]int    // how many of a kind have a word
	sent  strings.Builder
	// external are the ranges of the external network.
	external []netip.Prefix
}

// These attributes are chosen by the cloud. Where a case sends a value of its own, it stays as it is.
const (
	placeholderNumber  = "{number}"
	placeholderID      = "{id}"
	placeholderURL     = "{url}"
	placeholderAddress = "{address}"
	placeholderSecret  = "{secret}"
	placeholderChosen  = "{chosen by the cloud}"
)

func isChosenByCloud(key string) (string, bool) {
	switch key {
	case "ip_address", "floating_ip_address", "fixed_ip_address", "vip_address", "addr", "accessIPv4", "accessIPv6":
		return placeholderAddress, true
	case "mac_address", "mac_addr", "OS-EXT-IPS-MAC:mac_addr":
		return "{mac address}", true
	case "adminPass", "secret", "private_key", "public_key", "fingerprint", "audit_ids", "hash", "token":
		return placeholderSecret, true
	case "hostId", "reservation_id", "OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hostname", "OS-EXT-SRV-ATTR:hypervisor_hostname",
		"OS-EXT-SRV-ATTR:instance_name", "binding:host_id", "availability_zone", "OS-EXT-AZ:availability_zone", "host",
		"provider", "checksum", "os_hash_value", "locations", "direct_url", "volume_type", "attached_host", "host_name", "device", "fqdn",
		"hostname":
		return placeholderChosen, true
	}
	return "", false
}

func isNumberOfCloud(key string) bool {
	return slices.Contains([]string{
		"revision_number", "mtu", "provider:segmentation_id", "OS-DCF:progress", "progress", "id", "size", "min_disk", "min_ram", "virtual_size",
	}, key)
}

var (
	uuidPattern    = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	hexPattern     = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	timePattern    = regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?`)
	addressPattern = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	urlPattern     = regexp.MustCompile(`https?://[^\s"'<>]+`)
	requestPattern = regexp.MustCompile(`\breq-[0-9a-f-]{36}\b`)
)

func newPlaceholders(external ...netip.Prefix) placeholders {
	return placeholders{names: map[string]string{}, count: map[string]int{}, external: external}
}

// set gives an ID a word of the caller's choice.
func (w *placeholders) set(id, word string) {
	if id != "" {
		w.names[id] = "{" + word + "}"
	}
}

// learnResponse gives the object of an answer its word: its kind and how many of the kind came before it.
func (w *placeholders) learnResponse(a *Response, path string, sent any) {
	w.sent.WriteString(path + "\n")
	if raw, err := json.Marshal(sent); err == nil && sent != nil {
		w.sent.Write(raw)
	}
	if a.Status >= 300 {
		return
	}
	for kind, value := range a.Body {
		switch v := value.(type) {
		case map[string]any:
			w.learnObject(kind, v)
		case []any:
			for _, one := range v {
				if object, ok := one.(map[string]any); ok {
					w.learnObject(strings.TrimSuffix(kind, "s"), object)
				}
			}
		}
	}
	if id, ok := a.Body["id"].(string); ok { // Glance shows images bare, and Neutron a router's interface
		w.learnObject("object", map[string]any{"id": id})
	}
}

func (w *placeholders) learnObject(kind string, object map[string]any) {
	id, ok := object["id"].(string)
	if _, known := w.names[id]; !ok || known || !uuidPattern.MatchString(id) && !hexPattern.MatchString(id) {
		return
	}
	w.count[kind]++
	w.names[id] = fmt.Sprintf("{%s %d}", strings.ReplaceAll(kind, "_", " "), w.count[kind])
}

// forValue returns the words for the value of an attribute.
func (w *placeholders) forValue(key, value string) string {
	if word, chosen := isChosenByCloud(key); chosen && value != "" && !w.hasSent(value) {
		return word
	}
	return w.replace(value)
}

func (w *placeholders) forNumber(key, value string) string {
	if isNumberOfCloud(key) && !w.hasSent(fmt.Sprintf("%q:%s", key, value)) {
		return placeholderNumber
	}
	return value
}

// hasSent reports whether the case has sent a value, and not merely one that begins or ends with it.
func (w *placeholders) hasSent(value string) bool {
	rest := w.sent.String()
	for {
		before, after, found := strings.Cut(rest, value)
		if !found {
			return false
		}
		if !endsInWord(before) && !beginsInWord(after) {
			return true
		}
		rest = rest[len(before)+1:]
	}
}

func endsInWord(text string) bool   { return text != "" && isWord(text[len(text)-1]) }
func beginsInWord(text string) bool { return text != "" && isWord(text[0]) }
func isWord(character byte) bool {
	return character >= '0' && character <= '9' || character >= 'a' && character <= 'z' || character >= 'A' && character <= 'Z'
}

// replace replaces everything in a text that is not the same everywhere.
func (w *placeholders) replace(value string) string {
	ids := make([]string, 0, len(w.names))
	for id := range w.names {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		value = strings.ReplaceAll(value, id, w.names[id])
	}
	value = requestPattern.ReplaceAllString(value, placeholderID)
	value = urlPattern.ReplaceAllString(value, placeholderURL)
	value = timePattern.ReplaceAllStringFunc(value, timePlaceholder)
	value = uuidPattern.ReplaceAllStringFunc(value, w.unlessSent(placeholderID))
	value = hexPattern.ReplaceAllStringFunc(value, w.unlessSent(placeholderID))
	return addressPattern.ReplaceAllStringFunc(value, func(found string) string {
		// Addresses within a subnet follow from what was sent; only those of the external network are the cloud's.
		address, err := netip.ParseAddr(found)
		isExternal := func(r netip.Prefix) bool { return r.Contains(address) }
		if err == nil && slices.ContainsFunc(w.external, isExternal) && !w.hasSent(found) {
			return placeholderAddress
		}
		return found
	})
}

// timePlaceholder keeps the form of a time, which decides whether a client can read it.
func timePlaceholder(found string) string {
	parts := timePattern.FindStringSubmatch(found)
	word := "{time"
	if parts[1] == " " {
		word += " after a blank"
	}
	if digits := len(parts[2]) - 1; digits > 0 {
		word += fmt.Sprintf(" with %d digits of a second", digits)
	}
	switch parts[3] {
	case "Z":
	case "":
		word += " without a zone"
	default:
		word += " of zone " + parts[3]
	}
	return word + "}"
}

func (w *placeholders) unlessSent(word string) func(string) string {
	return func(found string) string {
		if w.hasSent(found) {
			return found
		}
		return word
	}
}
