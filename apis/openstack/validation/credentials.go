package validation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The keys of credentials. The first ten are the upstream extension's, the others ours.
const (
	keyAuthURL        = "authURL"
	keyUsername       = "username"
	keyPassword       = "password"
	keyAppCredID      = "applicationCredentialID"
	keyAppCredName    = "applicationCredentialName"
	keyAppCredSecret  = "applicationCredentialSecret"
	keyDomainName     = "domainName"
	keyTenantName     = "tenantName"
	keyCACert         = "caCert"
	keyInsecure       = "insecure"
	keyDomainID       = "domainID"
	keyTenantID       = "tenantID"
	keyUserDomainName = "userDomainName"
	keyUserDomainID   = "userDomainID"
)

func credentialKeys() []string {
	return []string{
		keyAuthURL, keyUsername, keyPassword, keyAppCredID, keyAppCredName, keyAppCredSecret, keyDomainName, keyTenantName, keyCACert, keyInsecure,
		keyDomainID, keyTenantID, keyUserDomainName, keyUserDomainID,
	}
}

// credentials are the data of a Secret, and where they are.
type credentials struct {
	data map[string][]byte
	path *field.Path
}

// ValidateCredentials checks the data of a Secret with credentials; fldPath is the data's. No error prints a value.
//
// It refuses what no login could be made of, as the controllers do. On top of that it refuses what is surely an error, though a login may work
// all the same: keys without a value, values with line breaks, white space around all but passwords and secrets, names that are longer
// than Keystone's, bytes that are no text, and an insecure that is neither true nor false. Where Keystone is may be left to the CloudProfile.
func ValidateCredentials(data map[string][]byte, fldPath *field.Path) field.ErrorList {
	given := credentials{data: data, path: fldPath}
	errs := given.validateForm()
	for _, key := range credentialKeys() {
		path := fldPath.Key(key)
		missing := slices.ContainsFunc(errs, func(fieldError *field.Error) bool { return fieldError.Field == path.String() })
		if _, there := data[key]; !there || missing {
			continue
		}
		if detail := given.valueProblem(key); detail != "" {
			errs = append(errs, field.Invalid(path, field.OmitValueType{}, detail))
		}
	}
	return errs
}

// CredentialsWarnings tells what of the data nobody reads.
func CredentialsWarnings(data map[string][]byte, fldPath *field.Path) []string {
	given, known := credentials{data: data, path: fldPath}, credentialKeys()
	var warnings []string
	for key := range data {
		if slices.Contains(known, key) {
			continue
		}
		remedy := "remove it"
		if i := slices.IndexFunc(known, func(other string) bool { return strings.EqualFold(other, key) }); i >= 0 {
			remedy = fmt.Sprintf("rename it to %s, or remove it", known[i])
		}
		warnings = append(warnings, fmt.Sprintf("%s: is not a key of OpenStack credentials and is ignored: %s", fldPath.Key(key), remedy))
	}
	if given.has(keyPassword) {
		for _, key := range []string{keyAppCredID, keyAppCredName} {
			if given.has(key) {
				warnings = append(warnings, fmt.Sprintf("%s: is not read, since there is a %s: remove one of the two", fldPath.Key(key), keyPassword))
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

// DomainName returns the name of the project's domain in the data of a Secret with credentials. It is empty when they only say its ID, or no
// domain at all.
func DomainName(data map[string][]byte) string {
	return credentials{data: data}.text(keyDomainName)
}

func (c credentials) text(key string) string { return strings.TrimSpace(string(c.data[key])) }

// has reports whether a key says anything. To passwords and secrets white space belongs.
func (c credentials) has(key string) bool {
	if isSecret(key) {
		return len(c.data[key]) > 0
	}
	return len(bytes.TrimSpace(c.data[key])) > 0
}

func isSecret(key string) bool { return key == keyPassword || key == keyAppCredSecret }

// required is an error unless there is one of the keys.
func (c credentials) required(detail string, keys ...string) field.ErrorList {
	if slices.ContainsFunc(keys, c.has) {
		return nil
	}
	return field.ErrorList{field.Required(c.path.Key(keys[0]), detail)}
}

// validateForm checks that the keys make one of the three forms of a login.
func (c credentials) validateForm() field.ErrorList {
	switch {
	case c.has(keyPassword) && c.has(keyAppCredSecret):
		return field.ErrorList{field.Forbidden(c.path.Key(keyAppCredSecret),
			"nobody could tell who is meant to log in: remove it, or "+keyPassword)}
	case c.has(keyPassword):
		return append(c.validateUser(), c.validateProject()...)
	case c.has(keyAppCredSecret) && c.has(keyAppCredID):
		return nil
	case c.has(keyAppCredSecret) && c.has(keyAppCredName):
		return c.validateUser()
	case c.has(keyAppCredSecret):
		return c.required(fmt.Sprintf("whose secret is it? Set it, or %s and %s", keyAppCredName, keyUsername), keyAppCredID)
	case c.has(keyAppCredID), c.has(keyAppCredName):
		return c.required("add the application credential's secret", keyAppCredSecret)
	case c.has(keyUsername):
		return c.required("add the user's, or use an application credential", keyPassword)
	default:
		return field.ErrorList{field.Required(c.path, fmt.Sprintf("they let nobody log in: set %s and %s, or %s and %s",
			keyUsername, keyPassword, keyAppCredID, keyAppCredSecret))}
	}
}

func (c credentials) validateUser() field.ErrorList {
	return append(c.required("add the user's name", keyUsername),
		c.required(fmt.Sprintf("the user's domain is missing: set %s or %s", keyDomainName, keyDomainID),
			keyDomainName, keyDomainID, keyUserDomainName, keyUserDomainID)...)
}

func (c credentials) validateProject() field.ErrorList {
	if !c.has(keyTenantName) || c.has(keyTenantID) {
		return c.required(fmt.Sprintf("the project is missing: set %s or %s", keyTenantName, keyTenantID), keyTenantName, keyTenantID)
	}
	if c.has(keyUserDomainName) || c.has(keyUserDomainID) { // or else the user's domain is missing as well, and that is said already
		return c.required(fmt.Sprintf("the project's domain is missing: set %s or %s", keyDomainName, keyDomainID), keyDomainName, keyDomainID)
	}
	return nil
}
