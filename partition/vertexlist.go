package partition

import (
	"context"

	"github.com/privcom/privcom/partition/reader"
)

// readVertexList registers the ids of the vertices file (see reader.ReadList)
// and gives their number, repeats included.
func (t *intake) readVertexList(ctx context.Context, o *Options) (int64, error) {
	return reader.ReadList(ctx, o.VerticesFile, o.readerOptions(), func(id []byte) error {
		if x, ok := parseNumber(id); ok {
			return t.numbers(x, x, place{})
		}
		return t.texts(id, id, place{})
	})
}
