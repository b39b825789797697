package conformance

func flavorsAndImages() []Behaviour {
	return []Behaviour{}
}
