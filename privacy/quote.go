package privacy

import "context"

// Quote is what a release would do to a ledger. A quote reserves nothing: another release
// may come first, and Reserve decides anew.
type Quote struct {
	Refusal error  // why Reserve would refuse, a *RefusedError; nil where it would not
	Limit   *Limit // of the unit; nil without one
	Spent   Cost   // committed and reserved, in the current period
	After   Cost   // Spent and the request
}

// Quote asks what Reserve would say to a request now.
func (l *Ledger) Quote(ctx context.Context, r Request) (Quote, error) {
	s, err := l.State(ctx)
	if err != nil {
		return Quote{}, err
	}
	q := Quote{Refusal: s.admit(l, r), Spent: s.Spent(r.Unit)}
	q.After = q.Spent.Plus(r.Cost)
	if m, ok := s.Limits[r.Unit]; ok {
		q.Limit = &m
	}
	return q, nil
}
