package openstack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	openstackmachine "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/worker"
)

// groupWant is the server group that a pool asks for.
type groupWant struct{ pool, policy string }

// owner tells a shoot's server groups by their names.
//
// A name of the form that is made here, and by newer versions of the upstream extension, is the first 18 characters of the shoot's UID,
// a hyphen and 8 hex digits: 60 random bits, which nobody else's name begins with by chance. It can be told as the shoot's whatever pool
// it was made for.
//
// A name of the older form is `<technical ID>-<pool>-<suffix>`, the suffix being 10 random letters and digits, or for a while 5 hex digits of a
// hash of the policy. All three may hold hyphens but the suffix, so that `shoot--dev--foo-bar-x-0123456789` is of pool bar-x of shoot foo, or
// of pool x of shoot foo-bar. Only where neither the shoot's name nor the pool's has a hyphen there is a single way to read it. Everywhere else
// the name proves nothing, and a group is the shoot's only if it is recorded, or if one of its servers is a machine of the shoot.
type owner struct {
	technicalID string
	// uids are those that the shoot has in names: the first is that of new names.
	uids []string
}

// lengthOfUID is how much of a UID stands in a name.
const lengthOfUID = 18

// ownerOf takes the UID of the Shoot object for new names, as the upstream extension does. It is another one than the UID of the shoot
// itself when the garden cluster has been restored.
func ownerOf(shoot *worker.Shoot) owner {
	o := owner{technicalID: shoot.TechnicalID}
	for _, uid := range []string{string(shoot.Cluster.Shoot.UID), shoot.UID} {
		if len(uid) >= lengthOfUID && !slices.Contains(o.uids, uid[:lengthOfUID]) {
			o.uids = append(o.uids, uid[:lengthOfUID])
		}
	}
	return o
}

// names are those of our form that the group may have which a pool asks for. The first is that of a new group.
func (o owner) names(want groupWant) []string {
	sum := sha256.Sum256(fmt.Appendf(nil, "pool=%s,policy=%s", want.pool, want.policy))
	var names []string
	for _, uid := range o.uids {
		names = append(names, uid+"-"+hex.EncodeToString(sum[:])[:8])
	}
	return names
}

// isNamed reports whether a name of our form is the shoot's, for whatever pool and policy.
func (o owner) isNamed(name string) bool {
	for _, uid := range o.uids {
		hash, isOurs := strings.CutPrefix(name, uid+"-")
		if isOurs && len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}

// poolFromName returns the pool in a name of the older form, if it is read as the shoot's.
func (o owner) poolFromName(group cloudopenstack.ServerGroup) (string, bool) {
	rest, hasPrefix := strings.CutPrefix(group.Name, o.technicalID+"-")
	end := strings.LastIndexByte(rest, '-')
	if !hasPrefix || end <= 0 {
		return "", false
	}
	suffix := rest[end+1:]
	ofPolicy := sha256.Sum256([]byte("policy=" + group.Policy))
	isRandom := len(suffix) == 10 && strings.Trim(suffix, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
	return rest[:end], isRandom || suffix == hex.EncodeToString(ofPolicy[:])[:5]
}

// isUnambiguous reports whether there is no other way to read a name of the older form.
func (o owner) isUnambiguous(pool string) bool {
	at := strings.LastIndex(o.technicalID, "--")
	return at > 0 && !strings.Contains(o.technicalID[at+2:], "-") && !strings.Contains(pool, "-")
}

// isOwn reports whether a group is the shoot's by its name alone.
func (o owner) isOwn(group cloudopenstack.ServerGroup) bool {
	pool, isParsed := o.poolFromName(group)
	return o.isNamed(group.Name) || isParsed && o.isUnambiguous(pool)
}

// isMachine reports whether a server is a machine of the shoot.
func (o owner) isMachine(server cloudopenstack.Server) bool {
	_, ours := server.Metadata[openstackmachine.TagClusterPrefix+o.technicalID]
	return ours
}
