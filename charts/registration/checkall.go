package registration

import "fmt"

// checkPrimaries refuses a second primary for a kind and type: two would fight over the same objects, and Gardener does not
// notice it in its own API.
func (c Catalogue) checkPrimaries(problems *FieldErrors) {
	type resource struct{ kind, typ string }
	first := map[resource]int{}
	for i, e := range c.Registrations {
		if e.Role != RolePrimary {
			continue
		}
		for j, typ := range e.Types {
			was, taken := first[resource{e.Kind, typ}]
			if !taken {
				first[resource{e.Kind, typ}] = i
			} else if was != i {
				addf(problems, fmt.Sprintf("registrations[%d].types[%d]", i, j),
					"registrations[%d] (%s) is the primary for %s/%s already, and there can be one only; remove the type from one of them",
					was, c.Registrations[was].Name, e.Kind, typ)
			}
		}
	}
}

// checkUnique refuses names that two installations on one seed would fight over.
func (c Catalogue) checkUnique(problems *FieldErrors) {
	fields := []struct {
		name string
		of   func(Entry) string
		fix  string
	}{
		{"name", func(e Entry) string { return e.Name }, "rename one of them"},
		{
			"heartbeatNamespace", func(e Entry) string { return e.HeartbeatNamespace },
			"one of the two would vouch for the other; give each its own, or leave it out",
		},
	}
	for _, field := range fields {
		first := map[string]int{}
		for i, e := range c.Registrations {
			value := field.of(e)
			if value == "" {
				continue
			}
			if was, taken := first[value]; taken {
				addf(problems, fmt.Sprintf("registrations[%d].%s", i, field.name), "%q is that of registrations[%d] (%s) already; %s",
					value, was, c.Registrations[was].Name, field.fix)
				continue
			}
			first[value] = i
		}
	}
}

// checkManagedResources refuses two registrations that would write the same ManagedResource into one shoot's namespace. A shoot
// has one object of each kind with a type, so that two types of one kind never meet. Secondaries write none.
func (c Catalogue) checkManagedResources(written func(kind, typ string) []string, problems *FieldErrors) {
	type writer struct {
		index     int
		kind, typ string
	}
	first := map[string]writer{}
	for i, e := range c.Registrations {
		if e.Role != RolePrimary {
			continue
		}
		for _, typ := range e.Types {
			for _, name := range written(e.Kind, typ) {
				was, taken := first[name]
				if !taken {
					first[name] = writer{i, e.Kind, typ}
				} else if was.index != i && was.kind != e.Kind {
					addf(problems, fmt.Sprintf("registrations[%d].kind", i),
						"%s/%s and registrations[%d] (%s) both write the ManagedResource %s into a shoot's namespace; rename it in one of the controllers",
						e.Kind, typ, was.index, c.Registrations[was.index].Name, name)
				}
			}
		}
	}
}
