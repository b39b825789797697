package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCredentialsUpdate checks that credentials of shoots go on meaning the same project. Only what both say can be compared, and an ID
// says more than a name: names can change. The authURL is not compared: it means nothing, since the CloudProfile alone says where Keystone is.
// fldPath is the data's; no error prints a value.
func ValidateCredentialsUpdate(oldData, newData map[string][]byte, fldPath *field.Path) field.ErrorList {
	const leftBehind = "all that the shoots with these credentials have would be left behind: set it back, or make a new Secret and a new binding for other shoots"
	before, after := credentials{data: oldData}, credentials{data: newData}
	var errs field.ErrorList
	refuse := func(key, detail string) {
		errs = append(errs, field.Invalid(fldPath.Key(key), field.OmitValueType{}, detail))
	}
	tenant, by := differing(before, after, keyTenantID, keyTenantName)
	if tenant != "" {
		refuse(tenant, "is another project than before, in which "+leftBehind+renamed(tenant))
	}
	// A project's ID is unique among all domains. Where no project is named, as with application credentials, the domain is the user's.
	if by == keyTenantName {
		if domain, _ := differing(before, after, keyDomainID, keyDomainName); domain != "" {
			refuse(domain, "is another domain than before, in which "+leftBehind+renamed(domain))
		}
	}
	return errs
}

// differing returns which of an ID and a name is different, if any, and by which the two can be compared, if by any.
func differing(before, after credentials, id, name string) (different, by string) {
	for _, key := range []string{id, name} {
		if was, is := before.text(key), after.text(key); was != "" && is != "" {
			if was != is {
				return key, key
			}
			return "", key
		}
	}
	return "", ""
}

// renamed says what helps when something has another name and nothing else is new.
func renamed(key string) string {
	if id, isName := strings.CutSuffix(key, "Name"); isName {
		return ". If it was only renamed, give " + id + "ID instead"
	}
	return ""
}
