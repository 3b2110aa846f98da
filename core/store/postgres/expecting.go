package postgres

// expecting is the third version of the schema: rows that a transaction rests on beyond its instances. A transaction locks each such
// row's name, shared, until it ends; a decision about the row locks the name alone. So a decision comes wholly before or after each
// transaction that expects something of it. The locks are advisory: they live in memory, where row locks would write to the one row
// that every spawn reads.
const expecting = `
create function row_name(space bytea, key bytea) returns bigint language sql stable as $$
    select hashtextextended(current_schema() || encode(space, 'hex') || '/' || encode(key, 'hex'), 0)
$$;

-- compare_rows refuses with MR005 unless each row has the value that it is given with; null: it is absent.
create function compare_rows(e_space bytea[], e_key bytea[], e_value bytea[]) returns void language plpgsql as $$
begin
    perform 1 from unnest(e_space, e_key, e_value) as e(space, key, value)
    left join rows r on r.space = e.space and r.key = e.key
    where r.value is distinct from e.value;
    if found then
        perform refuse('MR005');
    end if;
end $$;

create function expect_rows(e_space bytea[], e_key bytea[], e_value bytea[]) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(k) from (
        select distinct row_name(e.space, e.key) k from unnest(e_space, e_key) as e(space, key) order by k) locks;
    perform compare_rows(e_space, e_key, e_value);
end $$;

create function write_rows_if(
    e_space bytea, e_key bytea, e_value bytea,
    s_space bytea[], s_key bytea[], s_value bytea[], s_expires bigint[], d_space bytea[], d_key bytea[]
) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock(row_name(e_space, e_key));
    perform compare_rows(array[e_space], array[e_key], array[e_value]);
    perform write_rows(s_space, s_key, s_value, s_expires, d_space, d_key);
end $$;
`
