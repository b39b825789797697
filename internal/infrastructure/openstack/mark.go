package openstack

import (
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
)

// A mark is the description of all resources that this driver creates. It is part of the create request, so that a resource never exists without it, and is
// looked up by equality. It fits into Neutron's 255 characters: a technical ID has at most 63 and a UID 36.
const (
	markStart = "Gardener shoot "
	markUID   = ", uid "
	markEnd   = "; managed, do not edit"
)

// formatMark returns the description of the shoot's resources.
func formatMark(technicalID, uid string) string {
	return markStart + technicalID + markUID + uid + markEnd
}

// parseMark is the inverse of formatMark. ok is false for every other description.
func parseMark(description string) (technicalID, uid string, ok bool) {
	rest, started := strings.CutPrefix(description, markStart)
	rest, ended := strings.CutSuffix(rest, markEnd)
	technicalID, uid, separated := strings.Cut(rest, markUID)
	if !started || !ended || !separated || technicalID == "" || uid == "" || strings.ContainsAny(technicalID+uid, " ,;") {
		return "", "", false
	}
	return technicalID, uid, true
}

// checkMark returns an error if the description is another shoot's mark. Other descriptions are accepted: adopted resources keep theirs.
func checkMark(what, description, uid string) error {
	owner, ownerUID, ok := parseMark(description)
	if !ok || ownerUID == uid {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "%s is recorded as this shoot's own, but its description says that it belongs to shoot %s (uid %s): "+
		"correct the Infrastructure's state or the description", what, owner, ownerUID)
}
