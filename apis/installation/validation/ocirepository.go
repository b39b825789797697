package validation

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

const (
	ociScheme      = "oci://"
	maxTagLength   = 128
	maxNameLength  = 255
	hexDigitsOfSHA = 64
	sha256Prefix   = "sha256:"
)

// validateOCIRepository applies Gardener's rules (gardener/pkg/api/core/validation), and validates the reference, which Gardener leaves to the
// client.
func validateOCIRepository(repository *v1alpha1.OCIRepository, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case repository.Ref != "":
		errs = validateRef(repository, path)
	case repository.Repository == "" && repository.Tag == "" && repository.Digest == "":
		errs = field.ErrorList{field.Required(path, "give ref, or repository with tag or digest")}
	default:
		errs = validateParts(repository, path)
	}
	errs = append(errs, validateSecretRef(repository.PullSecretRef, path.Child("pullSecretRef"))...)
	return append(errs, validateSecretRef(repository.CABundleSecretRef, path.Child("caBundleSecretRef"))...)
}

func validateRef(repository *v1alpha1.OCIRepository, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, other := range []struct{ name, value string }{
		{"repository", repository.Repository}, {"tag", repository.Tag}, {"digest", repository.Digest},
	} {
		if other.value != "" {
			errs = append(errs, field.Forbidden(path.Child(other.name), "ref says everything: remove this field, or ref"))
		}
	}
	reference := parse(repository.Ref)
	problem := nameProblem(reference.name)
	if problem == "" {
		problem = reference.versionProblem()
	}
	if problem != "" {
		errs = append(errs, field.Invalid(path.Child("ref"), repository.Ref, problem))
	}
	return errs
}

func validateParts(repository *v1alpha1.OCIRepository, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	repositoryPath := path.Child("repository")
	switch reference := parse(repository.Repository); {
	case repository.Repository == "":
		errs = append(errs, field.Required(repositoryPath, "give the registry and the chart's name in it, like registry.example.org/charts/name"))
	case reference.hasTag || reference.hasDigest:
		errs = append(errs, field.Invalid(repositoryPath, repository.Repository, "move tag and digest to the fields tag and digest"))
	default:
		if problem := nameProblem(reference.name); problem != "" {
			errs = append(errs, field.Invalid(repositoryPath, repository.Repository, problem))
		}
	}
	if repository.Tag == "" && repository.Digest == "" {
		errs = append(errs, field.Required(path.Child("tag"), "give the tag of the chart, or its digest in the field digest"))
	}
	if problem := tagProblem(repository.Tag); repository.Tag != "" && problem != "" {
		errs = append(errs, field.Invalid(path.Child("tag"), repository.Tag, problem))
	}
	if problem := digestProblem(repository.Digest); repository.Digest != "" && problem != "" {
		errs = append(errs, field.Invalid(path.Child("digest"), repository.Digest, problem))
	}
	return errs
}

func validateSecretRef(ref *corev1.LocalObjectReference, path *field.Path) field.ErrorList {
	switch {
	case ref == nil:
		return nil
	case ref.Name == "":
		return field.ErrorList{field.Required(path.Child("name"), "give the name of the Secret, or remove the reference")}
	case len(validation.IsDNS1123Subdomain(ref.Name)) > 0:
		return field.ErrorList{field.Invalid(path.Child("name"), ref.Name,
			"no Secret can have this name: use lower-case letters, digits, dashes and dots, or remove the reference")}
	}
	return nil
}

// reference is a parsed reference to a chart. Its parts may be invalid.
type reference struct {
	name              string // registry/repository
	tag, digest       string
	hasTag, hasDigest bool
}

func parse(text string) reference {
	var result reference
	text = strings.TrimPrefix(text, ociScheme)
	result.name, result.digest, result.hasDigest = strings.Cut(text, "@")
	// A colon before the last slash separates a port.
	if colon := strings.LastIndex(result.name, ":"); colon > strings.LastIndex(result.name, "/") {
		result.name, result.tag, result.hasTag = result.name[:colon], result.name[colon+1:], true
	}
	return result
}

// versionProblem requires a tag or a digest. If there are both, which is common, both must be valid.
func (r reference) versionProblem() string {
	if !r.hasTag && !r.hasDigest {
		return "append a tag or a digest, like :1.0.0 or @sha256:<64 hexadecimal digits>"
	}
	if r.hasTag {
		if problem := tagProblem(r.tag); problem != "" {
			return problem
		}
	}
	if r.hasDigest {
		return digestProblem(r.digest)
	}
	return ""
}

// nameProblem returns what is wrong with registry/repository, and how to correct it.
func nameProblem(name string) string {
	registry, repository, _ := strings.Cut(name, "/")
	if !isRegistry(registry) || repository == "" {
		return "begin with the address of the registry and a slash, like registry.example.org/charts/name"
	}
	// The grammar is that of the OCI distribution specification.
	grammar := regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	if !grammar.MatchString(repository) || len(repository) < 2 || len(repository) > maxNameLength {
		return "the name after the registry has 2 to 255 lower-case letters and digits, with single slashes, dots, dashes or underscores between them: correct it"
	}
	return ""
}

// isRegistry reports whether the text is the address of a registry. A single word is not: some clients take it for a host, others for a part of a
// name on Docker Hub.
func isRegistry(text string) bool {
	for _, withPort := range []string{text, text + ":443"} {
		if address, err := netip.ParseAddrPort(withPort); err == nil {
			return address.Port() != 0 && address.Addr().Zone() == ""
		}
	}
	host, port, hasPort := strings.Cut(text, ":")
	if hasPort {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return false
		}
	}
	return len(validation.IsDNS1123Subdomain(strings.ToLower(host))) == 0 && (hasPort || host == "localhost" || strings.Contains(host, "."))
}

func tagProblem(tag string) string {
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`).MatchString(tag) || len(tag) > maxTagLength {
		return "a tag has at most 128 letters, digits, dots, dashes and underscores, which also stand for a + in a version: correct it"
	}
	return ""
}

func digestProblem(digest string) string {
	digits, ok := strings.CutPrefix(digest, sha256Prefix)
	if !ok || len(digits) != hexDigitsOfSHA || strings.Trim(digits, "0123456789abcdef") != "" {
		return "a digest is sha256: and 64 hexadecimal digits, in lower case: correct it"
	}
	return ""
}
