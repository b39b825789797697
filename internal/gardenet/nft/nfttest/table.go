package nfttest

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/gardenet/nft"
)

func (t *table) command(operation, kind, name, content string) error {
	switch operation + " " + kind {
	case "add counter":
		t.counters[name] = true
		return nil
	case "add set", "add map":
		return t.addSet(kind, name, declarations(content))
	case "add chain":
		return t.addChain(name, strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(content, "{"), "}")))
	case "add rule":
		return t.addRule(name, content)
	case "add element":
		return t.addElements(name, elements(content))
	case "delete element":
		return t.deleteElements(name, elements(content))
	case "flush set", "flush map":
		if !t.has(kind, name) {
			return fmt.Errorf("there is no such %s", kind)
		}
		clear(t.sets[name].elements)
		return nil
	case "flush chain":
		if t.chains[name] == nil {
			return fmt.Errorf("there is no such chain")
		}
		t.chains[name].Rules = nil
		return nil
	case "delete set", "delete map", "delete chain", "delete counter":
		return t.remove(kind, name)
	}
	return fmt.Errorf("unknown command")
}

func (t *table) addSet(kind, name string, declarations []string) error {
	added := &set{Set: nft.Set{Name: name, Verdicts: kind == "map"}, elements: map[string]string{}}
	for _, declaration := range declarations {
		if typ, found := strings.CutPrefix(declaration, "type "); found {
			added.Type = strings.TrimSuffix(typ, " : verdict")
			if strings.HasSuffix(typ, " : verdict") != added.Verdicts {
				return fmt.Errorf("a %s cannot have the type %s", kind, typ)
			}
			continue
		}
		if declaration != "flags interval" {
			return fmt.Errorf("unknown declaration %q", declaration)
		}
		added.Interval = true
	}
	if former := t.sets[name]; former != nil {
		return fmt.Errorf("there is a set %s already", name)
	}
	t.sets[name] = added
	return nil
}

func (t *table) addChain(name, base string) error {
	if t.chains[name] != nil {
		return fmt.Errorf("there is a chain %s already", name)
	}
	t.chains[name] = &chain{nft.Chain{Name: name, Base: base}}
	return nil
}

func (t *table) addRule(name, rule string) error {
	if t.chains[name] == nil {
		return fmt.Errorf("there is no chain %s", name)
	}
	for _, used := range usedBy(rule) {
		if err := t.exists(used); err != nil {
			return err
		}
	}
	t.chains[name].Rules = append(t.chains[name].Rules, rule)
	return nil
}

func (t *table) addElements(name string, elements []string) error {
	s := t.sets[name]
	if s == nil {
		return fmt.Errorf("there is no set %s", name)
	}
	for _, element := range elements {
		key, value, is := strings.Cut(element, " : ")
		if is != s.Verdicts {
			return fmt.Errorf("%s is no element for set %s", element, name)
		}
		if former, found := s.elements[key]; found && former != value {
			return fmt.Errorf("%s has the value %s already", key, former)
		}
		for _, used := range usedBy(value) {
			if err := t.exists(used); err != nil {
				return err
			}
		}
		if _, found := s.elements[key]; s.Interval && !found {
			if err := overlaps(key, s.elements); err != nil {
				return err
			}
		}
		s.elements[key] = value
	}
	return nil
}

func (t *table) deleteElements(name string, elements []string) error {
	s := t.sets[name]
	if s == nil {
		return fmt.Errorf("there is no set %s", name)
	}
	for _, element := range elements {
		key, value, _ := strings.Cut(element, " : ")
		if former, found := s.elements[key]; !found || former != value {
			return fmt.Errorf("set %s has no element %s", name, element)
		}
		delete(s.elements, key)
	}
	return nil
}

// remove deletes an object that nothing uses.
func (t *table) remove(kind, name string) error {
	if !t.has(kind, name) {
		return fmt.Errorf("there is no such %s", kind)
	}
	if user := t.userOf(kind, name); user != "" {
		return fmt.Errorf("%s %s is used by %s", kind, name, user)
	}
	switch kind {
	case "counter":
		delete(t.counters, name)
	case "chain":
		delete(t.chains, name)
	default:
		delete(t.sets, name)
	}
	return nil
}

func (t *table) has(kind, name string) bool {
	switch kind {
	case "counter":
		return t.counters[name]
	case "chain":
		return t.chains[name] != nil
	default:
		return t.sets[name] != nil && t.sets[name].Verdicts == (kind == "map")
	}
}

// userOf returns a chain or map that uses an object, or "".
func (t *table) userOf(kind, name string) string {
	object := use{kind, name}
	if kind == "map" {
		object.kind = "set"
	}
	for _, chain := range t.chains {
		for _, rule := range chain.Rules {
			if slices.Contains(usedBy(rule), object) {
				return "chain " + chain.Name
			}
		}
	}
	for _, set := range t.sets {
		for _, value := range set.elements {
			if slices.Contains(usedBy(value), object) {
				return "map " + set.Name
			}
		}
	}
	return ""
}

// use is an object that a rule or value needs.
type use struct{ kind, name string }

func usedBy(rule string) (used []use) {
	words := strings.Fields(rule)
	for i, word := range words {
		if name, found := strings.CutPrefix(word, "@"); found {
			used = append(used, use{"set", name})
		}
		if i == 0 {
			continue
		}
		switch {
		case words[i-1] == "jump" || words[i-1] == "goto":
			used = append(used, use{"chain", word})
		case words[i-1] == "name" && i > 1 && words[i-2] == "counter":
			used = append(used, use{"counter", strings.Trim(word, `"`)})
		}
	}
	return used
}

// exists returns an error if there is no such object that can be used.
func (t *table) exists(u use) error {
	found := t.counters[u.name]
	switch u.kind {
	case "set":
		found = t.sets[u.name] != nil
	case "chain":
		found = t.chains[u.name] != nil && t.chains[u.name].Base == ""
	}
	if !found {
		return fmt.Errorf("there is no %s %s to use", u.kind, u.name)
	}
	return nil
}

// overlaps returns an error if a range has an address in common with another one. Ranges are prefixes or addresses here.
func overlaps(key string, elements map[string]string) error {
	added, err := Prefix(key)
	if err != nil {
		return err
	}
	for other := range elements {
		if existing, err := Prefix(other); err != nil || existing.Overlaps(added) {
			return fmt.Errorf("%s overlaps with %s", key, other)
		}
	}
	return nil
}

// Prefix returns an element of an interval set of addresses.
func Prefix(element string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(element); err == nil {
		return address.Prefix(address.BitLen())
	}
	prefix, err := netip.ParsePrefix(element)
	if err == nil && prefix != prefix.Masked() {
		return prefix, fmt.Errorf("%s is not a range", element)
	}
	return prefix, err
}
