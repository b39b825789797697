package validation

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/calico/v1alpha1"
)

const detectionGrammar = "write first-found, kubernetes-internal-ip, can-reach=8.8.8.8, interface=eth.*, skip-interface=docker.* or cidr=10.250.0.0/16"

const (
	// maxExpressions is the maximum length of a method with regular expressions. Some dozens of characters can expand to many thousands of states.
	maxExpressions = 255
	// maxMethod is the maximum length of all other methods: enough for a hundred ranges.
	maxMethod = 2048
)

// detection is a field with a method by which nodes detect their addresses.
type detection struct {
	path   *field.Path
	method string
	ipv6   bool
}

// detections returns the fields that the user set. An empty string means unset, as in upstream.
func detections(config *v1alpha1.NetworkConfig, fldPath *field.Path) []detection {
	var given []detection
	add := func(method *string, ipv6 bool, path *field.Path) {
		if method != nil && *method != "" {
			given = append(given, detection{path: path, method: *method, ipv6: ipv6})
		}
	}
	add(config.IPAutoDetectionMethod, false, fldPath.Child("ipAutodetectionMethod"))
	if config.IPv4 != nil {
		add(config.IPv4.AutoDetectionMethod, false, fldPath.Child("ipv4", "autoDetectionMethod"))
	}
	if config.IPv6 != nil {
		add(config.IPv6.AutoDetectionMethod, true, fldPath.Child("ipv6", "autoDetectionMethod"))
	}
	return given
}

func validateDetections(config *v1alpha1.NetworkConfig, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, given := range detections(config, fldPath) {
		if most := given.maxLength(); len(given.method) > most {
			errs = append(errs, field.TooLong(given.path, given.method, most))
		} else if problem := given.problem(); problem != "" {
			errs = append(errs, field.Invalid(given.path, given.method, problem))
		}
	}
	return errs
}

func (d detection) maxLength() int {
	for _, method := range []string{v1alpha1.DetectInterface, v1alpha1.DetectSkipInterface} {
		if strings.HasPrefix(d.method, method) {
			return maxExpressions
		}
	}
	return maxMethod
}

// problem returns what is wrong with the method, and how to correct it.
func (d detection) problem() string {
	name, argument, hasArgument := strings.Cut(d.method, "=")
	switch name {
	case v1alpha1.DetectFirstFound, v1alpha1.DetectInternalIP:
		if hasArgument {
			return fmt.Sprintf("%s takes no argument: write %s alone", name, name)
		}
		return ""
	}
	if !hasArgument {
		name = ""
	}
	switch name + "=" {
	case v1alpha1.DetectCanReach:
		if _, err := netip.ParseAddr(argument); err != nil && len(validation.IsDNS1123Subdomain(argument)) > 0 {
			return "can-reach= takes an IP address or a DNS name: correct it"
		}
	case v1alpha1.DetectInterface, v1alpha1.DetectSkipInterface:
		for _, expression := range split(argument) {
			if _, err := regexp.Compile(expression); err != nil || expression == "" {
				return fmt.Sprintf("%s= takes regular expressions for the names of interfaces, separated by commas: correct %q", name, expression)
			}
		}
	case v1alpha1.DetectCIDR:
		for _, text := range split(argument) {
			if _, ok := parseRange(text); !ok {
				return fmt.Sprintf("cidr= takes ranges in CIDR notation, separated by commas: correct %q", text)
			}
		}
	default:
		return "there is no such method: " + detectionGrammar
	}
	return ""
}

// otherFamily returns the first range of the method that is of the other family, if any.
func (d detection) otherFamily() (text string, found bool) {
	argument, ok := strings.CutPrefix(d.method, v1alpha1.DetectCIDR)
	if !ok {
		return "", false
	}
	for _, text := range split(argument) {
		if prefix, ok := parseRange(text); ok && prefix.Addr().Is6() != d.ipv6 {
			return text, true
		}
	}
	return "", false
}

// split splits a list as Calico does.
func split(list string) []string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
