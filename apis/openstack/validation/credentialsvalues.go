package validation

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxKeystoneNameLength is the maximum length, in characters, of names of domains and projects in Keystone, and of IDs. Names of users
// and application credentials may be longer.
const maxKeystoneNameLength = 64

// valueProblem returns what is wrong with the value of a key, and what to do about it, or nothing. It must not contain the
// value.
func (c credentials) valueProblem(key string) string {
	value := string(c.data[key])
	switch {
	case !c.has(key):
		return "is empty: give it a value, or remove the key"
	case key == keyCACert:
		return caCertProblem(c.text(key))
	case !utf8.ValidString(value):
		return "is not UTF-8: enter it again"
	case strings.ContainsAny(value, "\r\n"):
		return "contains a line break, which many tools add at the end: remove it"
	case isSecret(key):
		return ""
	case value != c.text(key):
		return "begins or ends with white space: remove it"
	case strings.ContainsFunc(value, unicode.IsControl):
		return "contains control characters: remove them"
	case key == keyAuthURL:
		return authURLProblem(value)
	case key == keyInsecure:
		return insecureProblem(value)
	default:
		return lengthProblem(key, value)
	}
}

func lengthProblem(key, value string) string {
	longest := maxKeystoneNameLength
	if key == keyUsername || key == keyAppCredName {
		longest = maxNameLength
	}
	if utf8.RuneCountInString(value) <= longest {
		return ""
	}
	return fmt.Sprintf("has more than %d characters, which Keystone does not take: correct it", longest)
}

func insecureProblem(value string) string {
	if strings.EqualFold(value, "true") || strings.EqualFold(value, "false") {
		return ""
	}
	return "must be true or false: correct it, or remove the key"
}

func authURLProblem(value string) string {
	parsed, err := url.Parse(value)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http":
		return "must be an address like https://keystone.example.org:5000/v3: correct it, or remove the key where the CloudProfile has Keystone's address"
	case strings.HasSuffix(strings.TrimRight(parsed.Path, "/"), "/v2.0"):
		return "is of version 2.0: use Keystone's version 3"
	default:
		return ""
	}
}

func caCertProblem(value string) string {
	if x509.NewCertPool().AppendCertsFromPEM([]byte(value)) {
		return ""
	}
	return "holds no certificate: give one or more in PEM, or remove the key"
}
