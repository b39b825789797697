package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// rule reads one, statement by statement.
func (s *simulator) rule(text string) (simulatedRule, error) {
	text, _, _ = strings.Cut(text, " comment ")
	rule := simulatedRule{action: func(*packet) outcome { return outcome{} }}
	words := strings.Fields(text)
	if words[0] == "limit" { // and log: no limit is reached here
		rule.counter = "logged-" + strings.Trim(words[5], `"`)
		return rule, nil
	}
	for len(words) > 0 {
		switch {
		case words[0] == "accept" || words[0] == "drop" || words[0] == "return":
			statement := words[0]
			rule.action, words = func(*packet) outcome { return outcome{statement: statement} }, words[1:]
		case words[0] == "jump" || words[0] == "goto":
			result := outcome{words[0], words[1]}
			rule.action, words = func(*packet) outcome { return result }, words[2:]
		case words[0] == "counter" && words[1] == "name":
			rule.counter, words = strings.Trim(words[2], `"`), words[3:]
		case strings.HasPrefix(strings.Join(words, " "), "ct mark set ct mark & "):
			mask, value := number(words[6]), number(words[8])
			rule.action, words = func(p *packet) outcome {
				if p.state != "untracked" {
					p.mark = p.mark&mask | value
				}
				return outcome{}
			}, words[9:]
		case strings.HasPrefix(strings.Join(words, " "), "ct mark & "):
			mask, value := number(words[3]), number(words[5])
			rule.matches, words = append(rule.matches, func(p *packet) bool { return p.state != "untracked" && p.mark&mask == value }), words[6:]
		default:
			var err error
			if words, err = s.expression(&rule, words); err != nil {
				return rule, err
			}
		}
	}
	return rule, nil
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

// expression reads keys, and what they are compared with.
func (s *simulator) expression(rule *simulatedRule, words []string) ([]string, error) {
	var keys []key
	for {
		k, length, err := newKey(words)
		if err != nil {
			return nil, err
		}
		keys, words = append(keys, k), words[length:]
		if len(words) == 0 || words[0] != "." {
			break
		}
		words = words[1:]
	}
	negated := words[0] == "!="
	if negated {
		words = words[1:]
	}
	if words[0] == "vmap" {
		set := s.sets[strings.TrimPrefix(words[1], "@")]
		rule.action = func(p *packet) outcome {
			value, _ := values(keys, p)
			statement, chain, _ := strings.Cut(set.elements[value], " ")
			return outcome{statement, chain}
		}
		return words[2:], nil
	}
	right, rest := words[0], words[1:]
	if right == "{" {
		end := slices.Index(words, "}")
		right, rest = strings.Join(words[1:end], " "), words[end+1:]
	}
	compare, err := s.right(right, keys)
	rule.matches = append(rule.matches, func(p *packet) bool {
		value, present := values(keys, p)
		return present && compare(value) != negated
	})
	return rest, err
}

// right reads what a value is compared with: a set, a list, a range or a single value.
func (s *simulator) right(text string, keys []key) (func(value string) bool, error) {
	if name, found := strings.CutPrefix(text, "@"); found {
		set := s.sets[name]
		if len(set.ranges) > 0 {
			return func(value string) bool {
				address := s.address(value)
				return slices.ContainsFunc(set.ranges, func(r netip.Prefix) bool { return r.Contains(address) })
			}, nil
		}
		return func(value string) bool { _, found := set.elements[value]; return found }, nil
	}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return func(value string) bool { return prefix.Contains(s.address(value)) }, nil
	}
	type span struct{ first, last int }
	var texts []string
	var spans []span
	for item := range strings.SplitSeq(strings.ReplaceAll(text, ", ", ","), ",") {
		item = strings.Trim(item, `"`)
		texts = append(texts, item)
		if !keys[0].numeric {
			continue
		}
		low, high, isRange := strings.Cut(item, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil, err
		}
		last, err := strconv.Atoi(high)
		if err != nil {
			return nil, err
		}
		spans = append(spans, span{first, last})
	}
	if keys[0].numeric {
		return func(value string) bool {
			n, _ := strconv.Atoi(value)
			return slices.ContainsFunc(spans, func(s span) bool { return s.first <= n && n <= s.last })
		}, nil
	}
	return func(value string) bool { return slices.Contains(texts, value) }, nil
}

func (s *simulator) address(text string) netip.Addr {
	parsed, known := s.parsed[text]
	if !known {
		parsed = netip.MustParseAddr(text)
		s.parsed[text] = parsed
	}
	return parsed
}

// key reads a value from a packet, and reports whether the packet has one. If not, the rule does not match.
type key struct {
	read    func(*packet) (value string, present bool)
	numeric bool
}

func values(keys []key, p *packet) (string, bool) {
	if len(keys) == 1 {
		return keys[0].read(p)
	}
	var parts []string
	for _, key := range keys {
		value, present := key.read(p)
		if !present {
			return "", false
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, " . "), true
}

func newKey(words []string) (key, int, error) {
	if words[0] == "iifname" {
		return key{read: func(p *packet) (string, bool) { return p.device, true }}, 1, nil
	}
	if len(words) < 2 {
		return key{}, 0, fmt.Errorf("unknown expression %q", words)
	}
	switch name := words[0] + " " + words[1]; name {
	case "ip saddr", "ip6 saddr", "ip daddr", "ip6 daddr":
		return key{read: func(p *packet) (string, bool) {
			if words[1] == "daddr" {
				return p.toText, p.to.Is4() == (words[0] == "ip")
			}
			return p.fromText, p.from.Is4() == (words[0] == "ip")
		}}, 2, nil
	case "tcp dport", "udp dport", "sctp dport", "th dport", "tcp sport", "udp sport", "sctp sport", "th sport":
		return key{numeric: true, read: func(p *packet) (string, bool) {
			port := p.dport
			if words[1] == "sport" {
				port = p.sport
			}
			return strconv.Itoa(port), words[0] == "th" || words[0] == p.protocol
		}}, 2, nil
	case "meta l4proto":
		return key{read: func(p *packet) (string, bool) { return p.protocol, true }}, 2, nil
	case "meta nfproto":
		return key{read: func(p *packet) (string, bool) {
			if p.from.Is4() {
				return "ipv4", true
			}
			return "ipv6", true
		}}, 2, nil
	case "icmpv6 type":
		return key{read: func(p *packet) (string, bool) { return p.icmpType, p.protocol == "icmpv6" }}, 2, nil
	case "ct state":
		return key{read: func(p *packet) (string, bool) { return p.state, true }}, 2, nil
	case "ct direction":
		return key{read: func(p *packet) (string, bool) {
			if p.reply {
				return "reply", p.state != "untracked"
			}
			return "original", p.state != "untracked"
		}}, 2, nil
	default:
		return key{}, 0, fmt.Errorf("unknown expression %q", name)
	}
}
