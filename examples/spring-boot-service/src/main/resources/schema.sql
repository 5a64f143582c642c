CREATE TABLE stock (article VARCHAR(40) PRIMARY KEY, amount INT, fence BIGINT);
INSERT INTO stock VALUES ('shoe', 200, 0);
