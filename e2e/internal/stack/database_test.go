package stack

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEmptyDatabases_Grants(t *testing.T) {
	script := emptyDatabases()
	var granted []string
	for _, match := range regexp.MustCompile("(?m)^GRANT ALL ON `(.+)`\\.\\* TO 'openstack'@'%';$").FindAllStringSubmatch(script, -1) {
		assert.NotRegexp(t, `(^|[^\\])[_%]`, match[1], "it would stand for more than one database")
		granted = append(granted, strings.ReplaceAll(match[1], `\_`, "_"))
	}
	assert.Equal(t, databases(), granted)
	assert.Equal(t, len(granted), strings.Count(script, "GRANT"), "there is no other right")
}
