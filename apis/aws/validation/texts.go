package validation

import (
	"regexp"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// textRule is the form of an ID or a name. It is as strict as the upstream extension.
type textRule struct {
	form      *regexp.Regexp
	maxLength int
	// optional accepts an empty text.
	optional bool
	// remedy is what to give instead.
	remedy string
}

func (r textRule) validate(text string, path *field.Path) field.ErrorList {
	switch {
	case text == "" && r.optional:
		return nil
	case text == "":
		return field.ErrorList{field.Required(path, "give "+r.remedy)}
	case utf8.RuneCountInString(text) > r.maxLength:
		return field.ErrorList{field.TooLong(path, text, r.maxLength)}
	case !r.form.MatchString(text):
		return field.ErrorList{field.Invalid(path, text, "give "+r.remedy)}
	}
	return nil
}

func (r textRule) validateOptional(text *string, path *field.Path) field.ErrorList {
	if text == nil {
		return nil
	}
	return r.validate(*text, path)
}

// maxIDLength is the maximum length of an ID, maxTagKeyLength that of the key of a tag and of the name of an instance profile.
const (
	maxIDLength     = 255
	maxTagKeyLength = 128
)

func newIDRule(prefix, kind string) textRule {
	return textRule{
		form: regexp.MustCompile(`^` + prefix + `-[a-z0-9]+$`), maxLength: maxIDLength, remedy: "the ID of " + kind + ", like " + prefix + "-0123456789abcdef0",
	}
}

func vpcID() textRule           { return newIDRule("vpc", "a VPC") }
func subnetID() textRule        { return newIDRule("subnet", "a subnet") }
func securityGroupID() textRule { return newIDRule("sg", "a security group") }
func reservationID() textRule   { return newIDRule("cr", "a capacity reservation") }

func snapshotID() textRule {
	rule := newIDRule("snap", "a snapshot")
	rule.optional = true
	return rule
}

func elasticIP() textRule {
	rule := newIDRule("eipalloc", "the allocation of an elastic IP address")
	rule.optional = true
	return rule
}

func zoneName() textRule {
	return textRule{form: regexp.MustCompile(`^[a-z0-9-]+$`), maxLength: maxIDLength, optional: true, remedy: "the name of an availability zone, like eu-west-1a"}
}

func tagKey() textRule {
	return textRule{
		form: regexp.MustCompile(`^[\w +\-=.:/@]+$`), maxLength: maxTagKeyLength,
		remedy: "the key of a tag: letters, digits, spaces, and any of _ . : / = + - @",
	}
}

func instanceProfileName() textRule {
	return textRule{form: regexp.MustCompile(`^[\w+=,.@-]+$`), maxLength: maxTagKeyLength, remedy: "the name of an instance profile, without its path"}
}

func instanceProfileARN() textRule {
	return textRule{
		form: regexp.MustCompile(`^arn:[\w +=,.@\-/:]+$`), maxLength: maxIDLength, optional: true,
		remedy: "the ARN of an instance profile, like arn:aws:iam::123456789012:instance-profile/name",
	}
}

func reservationGroupARN() textRule {
	return textRule{
		form: regexp.MustCompile(`^arn:[\w-]+:resource-groups:[\w+=,.@\-/:]+$`), maxLength: maxIDLength,
		remedy: "the ARN of a group of capacity reservations, like arn:aws:resource-groups:eu-west-1:123456789012:group/name",
	}
}

func ingressClassName() textRule {
	return textRule{form: regexp.MustCompile(`^[a-z0-9.-]+$`), maxLength: 253, remedy: "the name of a class, like alb, or remove the field"}
}

func roleARN() textRule {
	return textRule{
		form: regexp.MustCompile(`^arn:aws[a-z0-9-]*:iam::\d{12}:role(/[\w+=,.@-]+)*/[\w+=,.@-]+$`), maxLength: 2048,
		remedy: "the ARN of a role, like arn:aws:iam::123456789012:role/name",
	}
}
