package manager

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"
)

// A parser stores the value of a flag. Its error is a clause about the value; the caller adds what is allowed.
type parser func(text string) error

func text(target *string) parser {
	return func(text string) error {
		*target = text
		return nil
	}
}

func boolean(target *bool) parser {
	return func(text string) error {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("must be true or false")
		}
		*target = value
		return nil
	}
}

func atLeast(target *int, minimum int) parser {
	return func(text string) error {
		value, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return errors.New("must be a number")
		}
		if int(value) < minimum {
			return errors.New("is too small")
		}
		*target = int(value)
		return nil
	}
}

func durationOfAtLeast(target *time.Duration, minimum time.Duration) parser {
	return func(text string) error {
		value, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("must be a duration, such as 10m")
		}
		if value < minimum {
			return errors.New("is too short")
		}
		*target = value
		return nil
	}
}

func oneOf(target *string, allowed []string) parser {
	return func(text string) error {
		if !slices.Contains(allowed, text) {
			return errors.New("is unknown")
		}
		*target = text
		return nil
	}
}

// listOf parses allowed values separated by commas. Duplicates are ignored.
func listOf(target *[]string, message string, allowed []string) parser {
	return func(text string) error {
		var values []string
		for value := range strings.SplitSeq(text, ",") {
			value = strings.TrimSpace(value)
			switch {
			case value == "":
				return errors.New("has an empty element")
			case !slices.Contains(allowed, value):
				return fmt.Errorf("has %q, which %s", value, message)
			case !slices.Contains(values, value):
				values = append(values, value)
			}
		}
		*target = values
		return nil
	}
}

func address(target *string) parser {
	return func(text string) error {
		if text != "0" {
			if err := checkHostPort(text); err != nil {
				return err
			}
		}
		*target = text
		return nil
	}
}

func checkHostPort(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("must be an address")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("has %q for a port", port)
	}
	return nil
}

func port(target *int) parser {
	return func(text string) error {
		value, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return errors.New("must be a number")
		}
		if len(validation.IsValidPortNum(int(value))) > 0 {
			return errors.New("must be a port")
		}
		*target = int(value)
		return nil
	}
}

func host(target *string) parser { return matching(target, hostErrors, "must be a host") }

func hostErrors(text string) []string {
	if net.ParseIP(text) != nil {
		return nil
	}
	return validation.IsDNS1123Subdomain(strings.ToLower(text))
}

// hostWithOptionalPort parses the part of a URL between scheme and path.
func hostWithOptionalPort(target *string) parser {
	return func(text string) error {
		location, err := url.Parse("https://" + text)
		if err != nil || location.Host != text || strings.HasSuffix(text, ":") || len(hostErrors(location.Hostname())) > 0 {
			return errors.New("must be a host with an optional port")
		}
		if number := location.Port(); number != "" {
			if err := port(new(int))(number); err != nil {
				return fmt.Errorf("has %q for a port", number)
			}
		}
		*target = text
		return nil
	}
}

func namespaceName(target *string) parser {
	return matching(target, validation.IsDNS1123Label, "must be the name of a namespace")
}

func objectName(target *string) parser {
	return matching(target, validation.IsDNS1123Subdomain, "must be the name of an object")
}

func matching(target *string, validate func(string) []string, message string) parser {
	return func(text string) error {
		if len(validate(text)) > 0 {
			return errors.New(message)
		}
		*target = text
		return nil
	}
}

func semanticVersion(target *string) parser {
	return func(text string) error {
		if _, err := version.ParseSemantic(text); err != nil {
			return errors.New("must be a semantic version")
		}
		*target = text
		return nil
	}
}
