package validation

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The keys of credentials.
const (
	keyAccessKeyID     = "accessKeyID"
	keySecretAccessKey = "secretAccessKey"
	keyRegion          = "region"
)

// credentialRule is the form of the value of a key. The alias is the name that the key has for AWS' own tools, and in Secrets for DNS.
type credentialRule struct {
	key, alias, form     string
	minLength, maxLength int
	optional             bool
	remedy               string
}

func credentialRules() []credentialRule {
	return []credentialRule{
		{
			key: keyAccessKeyID, alias: "AWS_ACCESS_KEY_ID", form: `^[A-Z0-9]+$`, minLength: 20, maxLength: 20,
			remedy: "give the ID of an access key: 20 upper-case letters and digits, without a line break",
		},
		{
			key: keySecretAccessKey, alias: "AWS_SECRET_ACCESS_KEY", form: `^[A-Za-z0-9/+=]+$`, minLength: 40, maxLength: 40,
			remedy: "give the secret of an access key: 40 letters, digits and any of / + =, without a line break",
		},
		{
			key: keyRegion, alias: "AWS_REGION", form: `^[a-z-]+-\d+$`, maxLength: 32, optional: true,
			remedy: "give a region, like eu-west-1, or remove the key",
		},
	}
}

// ValidateCredentials checks the data of a Secret with an access key; fldPath is the data's. No error prints a value. A key may have its alias instead, as
// one Secret may serve machines and DNS.
func ValidateCredentials(data map[string][]byte, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := map[string]bool{}
	for _, rule := range credentialRules() {
		known[rule.key], known[rule.alias] = true, true
		used := rule.key
		value, given := data[rule.key]
		if aliased, alsoGiven := data[rule.alias]; alsoGiven {
			if given {
				errs = append(errs, field.Invalid(fldPath.Key(rule.alias), field.OmitValueType{}, "means the same as "+rule.key+": remove one of the two"))
				continue
			}
			value, given, used = aliased, true, rule.alias
		}
		if given || !rule.optional {
			errs = append(errs, rule.validate(string(value), fldPath.Key(used))...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if !known[key] {
			errs = append(errs, field.Forbidden(fldPath.Key(key), "is not a key of AWS credentials: "+unknownKeyRemedy(key, known)))
		}
	}
	return errs
}

// unknownKeyRemedy says what to do about a key that differs from a known one in the case of letters only, or in more.
func unknownKeyRemedy(key string, known map[string]bool) string {
	for _, other := range slices.Sorted(maps.Keys(known)) {
		if strings.EqualFold(key, other) {
			return "rename it to " + other + ", or remove it"
		}
	}
	return "remove it"
}

func (r credentialRule) validate(value string, path *field.Path) field.ErrorList {
	length := utf8.RuneCountInString(value)
	switch {
	case value == "" && r.optional:
		return nil
	case value == "":
		return field.ErrorList{field.Required(path, r.remedy)}
	case length < r.minLength || length > r.maxLength || !regexp.MustCompile(r.form).MatchString(value):
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, r.remedy)}
	}
	return nil
}
